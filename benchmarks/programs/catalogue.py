"""Lists public programs: repositories, functions, and how to call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.programs.program import Inputs, Program

Random = np.random.Generator


@dataclass(frozen=True)
class Repository:
    """What a repository is about, and the commit that was tried."""

    field: str
    commit: str


REPOSITORIES = {
    "charnley/rmsd": Repository("chemistry", "ad3fe3cdd26d399cd9f64de7140146653210c390"),
    "sbyrnes321/tmm": Repository("optics", "462b63b517472b3b18245c98d70e700f4d312866"),
    "brandondube/prysm": Repository("optics", "5008f47803af6ff69eed474fca049456076e4a7d"),
    "ocefpaf/python-seawater": Repository(
        "oceanography", "aa2cc69bc2f49410cc6e3c6ee8108ab80f94b06f"
    ),
    "Mayitzin/ahrs": Repository("attitude estimation", "eb99143523ac8b83585218707fffb9f31c693528"),
    "matthew-brett/transforms3d": Repository(
        "rotations", "6a43a98e3659d198ff6ce2c90d52ddef50fcf770"
    ),
    "KieranWynn/pyquaternion": Repository("rotations", "99025c17bab1c55265d61add13375433b35251af"),
    "dfki-ric/pytransform3d": Repository("robotics", "b8047fe9ccc796d94b7b2263b5a485e20865fb30"),
    "AtsushiSakai/PythonRobotics": Repository(
        "robotics", "b38c510e083d69a5755d98d0680bd50f3d9a91fa"
    ),
    "AppliedMechanics-EAFIT/SolidsPy": Repository(
        "finite elements", "7319fba18d57aa47198ae3776d06b69a1a23f98a"
    ),
    "CALFEM/calfem-python": Repository(
        "finite elements", "3a0933284cc6bea06a30d7b460ea54ae01e0655f"
    ),
    "pmocz/nbody-python": Repository("astrophysics", "980b2ab41e673b8a793751b32c85290f3c02f10e"),
    "pmocz/sph-python": Repository("astrophysics", "e4d8ab6fa75d57d74f914439d16e541a7d035ef6"),
    "pmocz/finitevolume-python": Repository(
        "fluid dynamics", "e55d71025371a80a13ccf10f36db133af9e3d77d"
    ),
    "jameslyons/python_speech_features": Repository(
        "speech", "e280ac2b5797a3445c34820b0110885cd6609e5f"
    ),
    "csteinmetz1/pyloudnorm": Repository("sound", "b8d67bfd3ce5deef872f688fcfa491a0ca69fddd"),
    "endolith/waveform-analysis": Repository("signals", "baece1e4db3fa2324090086efe1d74cce314e65b"),
    "lmfit/lmfit-py": Repository("spectroscopy", "fe389bbbd1fe936cd73742bd81fc6fce7ac92858"),
    "fooof-tools/fooof": Repository("neuroscience", "1c327ec2e8bed5ef8e541c7d693313bf226733a5"),
    "jjhelmus/nmrglue": Repository("spectroscopy", "fbac8a1dba039155875bdc6bac0678550f5146d3"),
    "scikit-fuzzy/scikit-fuzzy": Repository(
        "fuzzy logic", "be7e344f3ce65845e39922aa5fc1af7412d01944"
    ),
    "ljvmiranda921/pyswarms": Repository(
        "optimisation", "70c969d929bb2dab6211765def0431680fc5cb01"
    ),
    "Turbo87/utm": Repository("geodesy", "cc928272396f0975ff5e255b03cac4e6aea5d9b9"),
    "joferkington/mplstereonet": Repository("geology", "b34d83edc34a690744115f4f2cf5a2412900c074"),
    "ThibHlln/hydroeval": Repository("hydrology", "09cb01b536f6a6ae306678df4d0b676f1bef4281"),
    "mattja/sdeint": Repository("stochastic equations", "8c110134f0efd6e23491f54a2db460969f3248da"),
    "CSchoel/nolds": Repository("nonlinear dynamics", "b91761c8dacf80e127493ba73a85a47cb1ec8a78"),
    "manu-mannattil/nolitsa": Repository(
        "nonlinear dynamics", "ccd9fab08a88fbc6ff63f0fae28730ccb74754de"
    ),
    "SALib/SALib": Repository("sensitivity analysis", "1c375488e1c85167929142fb54166eb35e4f99f6"),
    "trekhleb/homemade-machine-learning": Repository(
        "machine learning", "7510d8e0648077f4acaac6080804c1f9dd588e91"
    ),
    "ctgk/PRML": Repository("machine learning", "b60a6853962df1ae1f12a9d676cfcd8edfe7fd38"),
    "nengo/nengo": Repository("neuroscience", "43e46ed9b09b241ab785063eb4c82d8e3573dbb4"),
    "pykalman/pykalman": Repository("state estimation", "d62e60be00bd028ecc7eea6a8bea02f583910428"),
    "skyfielders/python-skyfield": Repository(
        "astronomy", "40c6e6c2c4f30e2a4d2c800adfbae58af5412df5"
    ),
    "pvlib/pvlib-python": Repository("solar power", "6382338a7598a5b9d94473f47fcbc787b0ac6408"),
    "mikedh/trimesh": Repository("meshes", "a513c0e2cfa6dfbd3121a6dfd8ceb002b9ef55d8"),
    "PyAbel/PyAbel": Repository("imaging", "f4459a7ce5f62088781b863d0cd08bbb54ed123b"),
    "veeresht/CommPy": Repository("communication", "9aecd7c598e1b3b868fd9d8a1d04e207b39487ad"),
    "fccoelho/epimodels": Repository("epidemiology", "27fd32de60fbd83df0224464f5c50d37193b06b1"),
    "wannesm/dtaidistance": Repository("time series", "1a08caa8023dd161b2907c15000a14f6ab2b489d"),
    "biopython/biopython": Repository("bioinformatics", "8b4d499f0e42567439e18a44986f342cc46e4faa"),
    "geospace-code/pymap3d": Repository("geodesy", "033895e2f1cf6d1a132040d70143b8e893a06ca6"),
    "simpeg/geoana": Repository("geophysics", "f17537c6fd26c98a16cf639d5ad459ababbe2df8"),
    "jkirkby3/fypy": Repository("finance", "0e22a518c4a7c05e8faf415e93a22c5e4fa47574"),
    "petercorke/spatialmath-python": Repository(
        "robotics", "3e675b7b0200787ad252abaec657c322621d7991"
    ),
    "sczesla/PyAstronomy": Repository("astronomy", "ed5065fe057364495f8df79c0a990aaf15d67414"),
    "ddbourgin/numpy-ml": Repository(
        "machine learning", "b0359af5285fbf9699d64fd5ec059493228af03e"
    ),
    "dfm/emcee": Repository("statistics", "8ab6c0fcc4afd46db0b401ec0c705d47ade07035"),
    "colour-science/colour": Repository(
        "image processing", "9d743142ed97a5cfae347b559aca14c43464eb70"
    ),
    "rougier/from-python-to-numpy": Repository("games", "8a5f0d9973fe7513ef8463291ec71bf0f2453688"),
    "Farama-Foundation/Gymnasium": Repository("games", "3f0476a8cc224dcce2167cc4b6971ae0f04d5cfc"),
    "neurodsp-tools/neurodsp": Repository(
        "neuroscience", "dfd40f09952e1fbc784949ad9b328758a5ecaaa2"
    ),
    "woodcrafty/PyETo": Repository("hydrology", "79ddd88d727c7ebdad0ce26e220528d2921b66ea"),
    "CalebBell/fluids": Repository(
        "chemical engineering", "091070e90f6b556183a242184cf83e502740cf0d"
    ),
}


def normal(*shapes: tuple[int, ...]) -> Inputs:
    """Standard normal arrays of these shapes."""
    return lambda r: tuple(r.normal(size=shape) for shape in shapes)


def given(*values: Any) -> Inputs:
    """The values themselves; arrays of lists."""
    return lambda r: tuple(np.array(v, float) if isinstance(v, list) else v for v in values)


def unit(r: Random, n: int) -> Any:
    """A random vector of length 1."""
    x = r.normal(size=n)
    return x / np.linalg.norm(x)


def rotation(r: Random) -> Any:
    """A random rotation matrix."""
    q = np.linalg.qr(r.normal(size=(3, 3)))[0]
    return q * np.sign(np.linalg.det(q))


def spread(r: Random, n: int) -> Any:
    """A random covariance matrix."""
    a = r.normal(size=(n, n))
    return a @ a.T / n + np.eye(n)


def sound(r: Random, n: int) -> Any:
    """A tone in noise."""
    return np.sin(2 * np.pi * 0.03 * np.arange(n)) + 0.1 * r.normal(size=n)


def pull(y: Any, t: float) -> Any:
    """A drift."""
    return np.array([y[1], -np.sin(y[0]) - 0.2 * y[1] + 0.1 * t])


def noise(y: Any, t: float) -> Any:
    """A diffusion."""
    return np.array([[0.1, 0.0], [0.0, 0.2 * y[0]]])


def superimposed(m: Any) -> Any:
    """The distance between two sets of points, by an object that keeps its steps."""

    def distance(x: Any, y: Any) -> Any:
        s = m.SVDSuperimposer()
        s.set(x, y)
        s.run()
        return s.get_rms()

    return distance


def evidence(m: Any) -> Any:
    """Fits a model, then asks for its evidence."""

    def log_evidence(x: Any, y: Any) -> Any:
        model = m.EmpiricalBayesRegression()
        model.fit(x, y, max_iter=5)
        return model.log_evidence(x, y)

    return log_evidence


def orbit(m: Any) -> Any:
    """Where a body on an ellipse is at these times."""

    def positions(t: Any, a: float, period: float, e: float) -> Any:
        return m.KeplerEllipse(a, period, e=e, Omega=20.0, i=30.0, w=10.0).xyzPos(t)

    return positions


def swing(m: Any) -> Any:
    """A step of the double pendulum."""
    pendulum = m.AcrobotEnv()
    return lambda state: m.rk4(pendulum._dsdt, state, [0, pendulum.dt])


def smoke(m: Any) -> Any:
    """A step of the densities of a fluid, which the solver stores in its arguments."""

    def density(x: Any, x0: Any, u: Any, v: Any) -> Any:
        x, x0 = x.copy(), x0.copy()
        m.dens_step(8, x, x0, u, v, 0.01, 0.1)
        return x

    return density


SALT, WARM, DEEP = [34.1, 34.9, 35.3, 36.0], [2.1, 5.7, 12.3, 18.9], [1200.0, 400.0, 150.0, 20.0]
AXIS = np.linspace(-2.0, 3.0, 41)
SQUARE = [[0.0, 0.1], [1.1, 0.0], [1.0, 0.9], [-0.1, 1.0]]

SEAWATER, AHRS, RMSD = "ocefpaf/python-seawater", "Mayitzin/ahrs", "charnley/rmsd"
SOLIDS, CALFEM = "AppliedMechanics-EAFIT/SolidsPy", "CALFEM/calfem-python"
SPH, NBODY, VOLUMES = "pmocz/sph-python", "pmocz/nbody-python", "pmocz/finitevolume-python"
SPEECH, SHAPES, T3D = (
    "jameslyons/python_speech_features",
    "lmfit/lmfit-py",
    "matthew-brett/transforms3d",
)
FUZZY, SWARMS, SPECTRA = "scikit-fuzzy/scikit-fuzzy", "ljvmiranda921/pyswarms", "fooof-tools/fooof"
STEREO, PYT3D, HOME = (
    "joferkington/mplstereonet",
    "dfki-ric/pytransform3d",
    "trekhleb/homemade-machine-learning",
)
ROBOTICS, ABEL, KALMAN = "AtsushiSakai/PythonRobotics", "PyAbel/PyAbel", "pykalman/pykalman"
SKY, SOLAR, PRYSM, MESH = (
    "skyfielders/python-skyfield",
    "pvlib/pvlib-python",
    "brandondube/prysm",
    "mikedh/trimesh",
)
NMR, CHAOS, FYPY, PRML = (
    "jjhelmus/nmrglue",
    "manu-mannattil/nolitsa",
    "jkirkby3/fypy",
    "ctgk/PRML",
)
MAP, SPATIAL, STARS = (
    "geospace-code/pymap3d",
    "petercorke/spatialmath-python",
    "sczesla/PyAstronomy",
)
ML, COLOUR, GYM, BRAIN = (
    "ddbourgin/numpy-ml",
    "colour-science/colour",
    "Farama-Foundation/Gymnasium",
    "neurodsp-tools/neurodsp",
)

PROGRAMS = [
    # chemistry
    Program(RMSD, "rmsd/calculate_rmsd.py", "kabsch_rmsd", normal((9, 3), (9, 3)), (0, 1)),
    Program(RMSD, "rmsd/calculate_rmsd.py", "quaternion_rmsd", normal((9, 3), (9, 3)), (0, 1)),
    Program(
        RMSD,
        "rmsd/calculate_rmsd.py",
        "kabsch_weighted",
        lambda r: (r.normal(size=(9, 3)), r.normal(size=(9, 3)), r.uniform(1, 2, 9)),
        (0, 1, 2),
    ),
    Program(RMSD, "rmsd/calculate_rmsd.py", "rotation_matrix_vectors", normal((3,), (3,)), (0, 1)),
    Program(
        RMSD,
        "rmsd/calculate_rmsd.py",
        "get_inertia_tensor",
        lambda r: (np.array([6, 1, 8, 1, 1]), r.normal(size=(5, 3))),
        (1,),
    ),
    # optics
    Program(
        "sbyrnes321/tmm",
        "tmm_core.py",
        "coh_tmm",
        lambda r: (
            "p",
            np.array([1.0, 2.2, 3.3 + 0.3j, 1.0]),
            np.array([np.inf, 100.0, 300.0, np.inf]),
            0.3,
            650.0,
        ),
        (3, 4),
        take=lambda d: (d["R"], d["T"]),
    ),
    Program(
        "sbyrnes321/tmm", "tmm_core.py", "interface_R", given("s", 1.0, 1.5, 0.4, 0.26), (1, 2)
    ),
    Program(
        PRYSM, "prysm/polynomials/jacobi.py", "jacobi", lambda r: (7, 0.5, 1.5, AXIS / 3), (3,)
    ),
    Program(
        PRYSM,
        "prysm/polynomials/zernike.py",
        "zernike_nm",
        lambda r: (5, 3, r.uniform(0, 1, 60), r.uniform(0, 6, 60)),
        (2, 3),
    ),
    Program(PRYSM, "prysm/coordinates.py", "make_rotation_matrix", given([12.0, 30.0, -5.0]), (0,)),
    Program(
        PRYSM,
        "prysm/geometry.py",
        "rotated_ellipse_sdf",
        lambda r: (2.0, 1.2, r.normal(size=(9, 9)), r.normal(size=(9, 9)), 25.0),
        (0, 1, 2, 3),
    ),
    Program(
        PRYSM,
        "prysm/x/raytracing/spencer_and_murty.py",
        "refract",
        lambda r: (
            1.0,
            1.5,
            np.array([[0.1, 0.2, np.sqrt(0.95)], [0.0, 0.3, np.sqrt(0.91)]]),
            np.array([[0.0, 0.0, 1.0], [0.6, 0.0, 0.8]]),
        ),
        (2, 3),
    ),
    # oceanography
    Program(SEAWATER, "seawater/eos80.py", "dens", given(SALT, WARM, DEEP), (0, 1, 2)),
    Program(SEAWATER, "seawater/eos80.py", "svel", given(SALT, WARM, DEEP), (0, 1, 2)),
    Program(SEAWATER, "seawater/eos80.py", "ptmp", given(SALT, WARM, DEEP, 0.0), (0, 1, 2)),
    Program(
        SEAWATER, "seawater/eos80.py", "salt", given([1.0, 0.9], [15.0, 8.0], [0.1, 9.0]), (0, 1)
    ),
    Program(
        SEAWATER,
        "seawater/extras.py",
        "dist",
        given([30.0, 31.0, 33.0], [-20.0, -21.5, -19.0]),
        (0, 1),
    ),
    Program(SEAWATER, "seawater/extras.py", "satO2", given(SALT, WARM), (0, 1)),
    # attitude, robotics
    Program(AHRS, "ahrs/common/orientation.py", "q2R", lambda r: (unit(r, 4),), (0,)),
    Program(AHRS, "ahrs/common/orientation.py", "chiaverini", lambda r: (rotation(r),), (0,)),
    Program(AHRS, "ahrs/common/orientation.py", "ecompass", normal((3,), (3,)), (0, 1)),
    Program(
        AHRS,
        "ahrs/common/orientation.py",
        "slerp",
        lambda r: (unit(r, 4), unit(r, 4), np.linspace(0, 1, 9)),
        (0, 1),
    ),
    Program(
        AHRS,
        "ahrs/filters/madgwick.py",
        "updateMARG",
        lambda r: (unit(r, 4), 0.1 * r.normal(size=3), r.normal(size=3), r.normal(size=3)),
        (0, 1, 2, 3),
        of=lambda m: m.Madgwick(),
    ),
    Program(
        AHRS,
        "ahrs/filters/mahony.py",
        "updateIMU",
        lambda r: (unit(r, 4), 0.1 * r.normal(size=3), r.normal(size=3)),
        (0, 1, 2),
        through=lambda m: lambda *args: m.Mahony().updateIMU(*args),  # one that has no bias yet
    ),
    Program(T3D, "transforms3d/euler.py", "euler2mat", given(0.3, -0.5, 1.1), (0, 1, 2)),
    Program(T3D, "transforms3d/euler.py", "mat2euler", lambda r: (rotation(r),), (0,)),
    Program(T3D, "transforms3d/quaternions.py", "mat2quat", lambda r: (rotation(r),), ()),
    Program(T3D, "transforms3d/quaternions.py", "qlog", lambda r: (unit(r, 4),), (0,)),
    Program(T3D, "transforms3d/affines.py", "decompose", normal((4, 4)), (0,)),
    Program(
        "KieranWynn/pyquaternion",
        "pyquaternion/quaternion.py",
        "slerp",
        lambda r: (r.normal(size=4), r.normal(size=4), 0.3),
        (0, 1, 2),
        through=lambda m: lambda a, b, t: m.Quaternion.slerp(m.Quaternion(a), m.Quaternion(b), t).q,
    ),
    Program(
        PYT3D,
        "pytransform3d/transformations/_screws.py",
        "transform_from_exponential_coordinates",
        normal((6,)),
        (0,),
    ),
    Program(
        PYT3D,
        "pytransform3d/transformations/_jacobians.py",
        "left_jacobian_SE3_inv",
        normal((6,)),
        (0,),
    ),
    Program(
        PYT3D,
        "pytransform3d/transformations/_dual_quaternion.py",
        "norm_dual_quaternion",
        normal((8,)),
        (0,),
    ),
    Program(
        PYT3D, "pytransform3d/rotations/_mrp.py", "concatenate_mrp", normal((3,), (3,)), (0, 1)
    ),
    Program(
        ROBOTICS,
        "Localization/extended_kalman_filter/extended_kalman_filter.py",
        "ekf_estimation",
        lambda r: (
            r.normal(size=(4, 1)),
            spread(r, 4),
            r.normal(size=(2, 1)),
            r.normal(size=(2, 1)),
        ),
        (0, 1, 2, 3),
    ),
    Program(
        ROBOTICS,
        "Localization/cubature_kalman_filter/cubature_kalman_filter.py",
        "cubature_kalman_filter",
        lambda r: (r.normal(size=(5, 1)), spread(r, 5), r.normal(size=(4, 1))),
        (0, 2),
    ),
    Program(
        ROBOTICS,
        "PathTracking/lqr_steer_control/lqr_steer_control.py",
        "dlqr",
        lambda r: (0.3 * r.normal(size=(4, 4)), r.normal(size=(4, 1)), np.eye(4), np.eye(1)),
        (0, 1),
        take=lambda result: result[0],
    ),
    Program(
        ROBOTICS,
        "ArmNavigation/n_joint_arm_to_point_control/n_joint_arm_to_point_control.py",
        "jacobian_inverse",
        lambda r: (r.uniform(0.5, 1, 10), r.normal(size=10)),
        (0, 1),
    ),
    # structures
    Program(
        SOLIDS, "solidspy/uelutil.py", "elast_quad4", lambda r: (np.array(SQUARE), (1.7, 0.3)), (0,)
    ),
    Program(
        SOLIDS,
        "solidspy/uelutil.py",
        "beam2D",
        lambda r: (np.array([[0.0, 0.1], [1.2, 0.9]]), (2.0, 0.4, 1.3)),
        (0,),
    ),
    Program(
        SOLIDS,
        "solidspy/uelutil.py",
        "elast_hex8",
        lambda r: (
            np.array([[x, y, z] for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))])
            + 0.05 * r.normal(size=(8, 3)),
            (1.7, 0.3, 1.0),
        ),
        (0,),
    ),
    Program(
        CALFEM,
        "src/calfem/core.py",
        "flw2qe",
        lambda r: (
            np.array([0.0, 1.1, 1.0, -0.1]),
            np.array([0.1, 0.0, 0.9, 1.0]),
            [1.3],
            np.array([[2.0, 0.1], [0.1, 1.5]]),
            0.7,
        ),
        (0, 1, 3, 4),
    ),
    Program(
        CALFEM,
        "src/calfem/core.py",
        "beam2e",
        given([0.0, 1.2], [0.1, 0.9], [2.0, 0.4, 1.3], [0.3, -1.0]),
        (0, 1, 2, 3),
    ),
    Program(
        CALFEM,
        "src/calfem/core.py",
        "beam3e",
        given([0.0, 1.2], [0.1, 0.9], [0.2, 0.5], [0.1, 0.2, 1.0], [2.0, 0.8, 0.4, 1.3, 1.1, 0.7]),
        (0, 1, 2, 4),
    ),
    Program(
        CALFEM,
        "src/calfem/core.py",
        "plante",
        lambda r: (
            np.array([0.0, 1.1, 1.0]),
            np.array([0.1, 0.0, 0.9]),
            [1, 1.3],
            np.diag([2.0, 2.0, 0.8]) + 0.1,
            np.array([[0.3], [-1.0]]),
        ),
        (0, 1, 3, 4),
    ),
    # astrophysics, fluids
    Program(
        NBODY,
        "nbody.py",
        "getAcc",
        lambda r: (r.normal(size=(20, 3)), r.uniform(1, 2, (20, 1)), 1.0, 0.1),
        (0, 1),
    ),
    Program(
        NBODY,
        "nbody.py",
        "getEnergy",
        lambda r: (r.normal(size=(20, 3)), r.normal(size=(20, 3)), r.uniform(1, 2, (20, 1)), 1.0),
        (0, 1, 2),
    ),
    Program(
        SPH,
        "sph.py",
        "getAcc",
        lambda r: (r.normal(size=(20, 3)), r.normal(size=(20, 3)), 0.05, 0.4, 0.1, 1, 2.0, 1.0),
        (0, 1, 2, 3),
    ),
    Program(
        VOLUMES,
        "finitevolume.py",
        "slopeLimit",
        normal((12, 12), (), (12, 12), (12, 12)),
        (0, 2, 3),
    ),
    Program(
        VOLUMES,
        "finitevolume.py",
        "getFlux",
        lambda r: (*r.uniform(1, 2, (8, 10, 10)), 5 / 3),
        (0, 1, 2, 3, 4, 5, 6, 7),
    ),
    # speech, sound
    Program(SPEECH, "python_speech_features/base.py", "mfcc", lambda r: (sound(r, 1600),), (0,)),
    Program(
        SPEECH,
        "python_speech_features/base.py",
        "delta",
        lambda r: (r.normal(size=(12, 5)), 2),
        (0,),
    ),
    Program(SPEECH, "python_speech_features/base.py", "ssc", lambda r: (sound(r, 1600),), (0,)),
    Program(
        "csteinmetz1/pyloudnorm",
        "pyloudnorm/meter.py",
        "integrated_loudness",
        lambda r: (sound(r, 6000),),
        (0,),
        of=lambda m: m.Meter(8000),
    ),
    Program(
        "endolith/waveform-analysis",
        "waveform_analysis/_common.py",
        "rms_flat",
        normal((50,)),
        (0,),
    ),
    # spectra
    Program(
        SHAPES, "lmfit/lineshapes.py", "voigt", lambda r: (AXIS, 1.3, 0.2, 0.7, 0.5), (1, 2, 3, 4)
    ),
    Program(
        SHAPES,
        "lmfit/lineshapes.py",
        "pearson4",
        lambda r: (AXIS, 1.3, 0.2, 0.7, 1.5, 0.4),
        (1, 2, 3, 4, 5),
    ),
    Program(
        SHAPES, "lmfit/lineshapes.py", "doniach", lambda r: (AXIS, 1.3, 0.2, 0.7, 0.3), (1, 2, 3, 4)
    ),
    Program(
        SHAPES,
        "lmfit/lineshapes.py",
        "thermal_distribution",
        lambda r: (AXIS + 3, 1.3, 0.2, 0.7, "fermi"),
        (1, 2, 3),
    ),
    Program(
        SHAPES,
        "lmfit/lineshapes.py",
        "rectangle",
        lambda r: (AXIS, 1.3, 0.2, 0.7, 1.4, 0.3, "erf"),
        (1, 2, 3, 4, 5),
    ),
    Program(
        SPECTRA,
        "specparam/modes/funcs.py",
        "gaussian_function",
        lambda r: (AXIS, 0.1, 1.0, 0.4, 1.5, 0.7, 0.6),
        (1, 2, 3, 4, 5, 6),
    ),
    Program(
        SPECTRA,
        "specparam/modes/funcs.py",
        "lorentzian_function",
        lambda r: (AXIS + 3, 1.2, 0.5, 1.5),
        (1, 2, 3),
    ),
    Program(
        NMR,
        "nmrglue/process/proc_base.py",
        "ps",
        lambda r: (r.normal(size=30) + 1j * r.normal(size=30), 20.0, 35.0),
        (1, 2),
    ),
    Program(
        NMR,
        "nmrglue/process/proc_base.py",
        "gm",
        lambda r: (r.normal(size=30), 0.02, 0.03, 0.1),
        (0, 1, 2, 3),
    ),
    # fuzzy sets, swarms
    Program(
        FUZZY,
        "skfuzzy/membership/generatemf.py",
        "pimf",
        lambda r: (AXIS, -1.1, 0.3, 1.1, 2.3),
        (1, 2, 3, 4),
    ),
    Program(
        FUZZY,
        "skfuzzy/membership/generatemf.py",
        "gauss2mf",
        lambda r: (AXIS, -0.33, 0.4, 1.21, 0.6),
        (1, 2, 3, 4),
    ),
    Program(
        FUZZY,
        "skfuzzy/defuzzify/defuzz.py",
        "centroid",
        lambda r: (AXIS, r.uniform(0.1, 1, 41)),
        (1,),
    ),
    Program(
        FUZZY,
        "skfuzzy/defuzzify/defuzz.py",
        "bisector",
        lambda r: (AXIS, r.uniform(0.1, 1, 41)),
        (1,),
    ),
    Program(
        FUZZY,
        "skfuzzy/cluster/_cmeans.py",
        "cmeans",
        lambda r: (
            r.normal(size=(2, 30)),
            3,
            2.0,
            1e-4,
            20,
            "euclidean",
            r.dirichlet([2.0] * 3, 30).T,
        ),
        (0,),
        take=lambda result: result[0],
    ),
    Program(SWARMS, "pyswarms/utils/functions/single_obj.py", "ackley", normal((8, 3)), (0,)),
    Program(
        SWARMS,
        "pyswarms/utils/functions/single_obj.py",
        "eggholder",
        lambda r: (r.uniform(-400, 400, (8, 2)),),
        (0,),
    ),
    Program(SWARMS, "pyswarms/utils/functions/single_obj.py", "levi", normal((8, 2)), (0,)),
    # geodesy, geology, hydrology
    Program("Turbo87/utm", "utm/conversion.py", "from_latlon", given(48.3, 11.7), (0, 1)),
    Program(
        "Turbo87/utm", "utm/conversion.py", "to_latlon", given(500100.0, 4649776.0, 32, "U"), (0, 1)
    ),
    Program(
        STEREO,
        "mplstereonet/stereonet_math.py",
        "plane",
        given([30.0, 110.0], [40.0, 65.0]),
        (0, 1),
    ),
    Program(
        STEREO,
        "mplstereonet/stereonet_math.py",
        "fisher_stats",
        lambda r: (0.3 * r.normal(size=12), 0.3 * r.normal(size=12)),
        (0, 1),
    ),
    Program(
        STEREO,
        "mplstereonet/stereonet_math.py",
        "plane_intersection",
        given(30.0, 40.0, 110.0, 65.0),
        (0, 1, 2, 3),
    ),
    Program(
        "ThibHlln/hydroeval",
        "hydroeval/objective_functions.py",
        "kge",
        lambda r: (r.uniform(1, 2, (20, 2)), r.uniform(1, 2, (20, 1))),
        (0, 1),
    ),
    Program(
        "ThibHlln/hydroeval",
        "hydroeval/objective_functions.py",
        "kgenp",
        lambda r: (r.uniform(1, 2, (20, 2)), r.uniform(1, 2, (20, 1))),
        (0,),
    ),
    # stochastic and chaotic systems
    Program(
        "mattja/sdeint",
        "sdeint/integrate.py",
        "itoEuler",
        lambda r: (
            pull,
            noise,
            r.normal(size=2),
            np.linspace(0, 1, 21),
            0.2 * r.normal(size=(20, 2)),
        ),
        (2, 4),
    ),
    Program(
        "mattja/sdeint",
        "sdeint/integrate.py",
        "stratHeun",
        lambda r: (
            pull,
            noise,
            r.normal(size=2),
            np.linspace(0, 1, 21),
            0.2 * r.normal(size=(20, 2)),
        ),
        (2, 4),
    ),
    Program("CSchoel/nolds", "nolds/measures.py", "rs", lambda r: (r.normal(size=60), 12), (0,)),
    Program("CSchoel/nolds", "nolds/measures.py", "sampen", lambda r: (r.normal(size=60),), ()),
    Program(CHAOS, "nolitsa/delay.py", "acorr", lambda r: (r.normal(size=60),), (0,)),
    Program(CHAOS, "nolitsa/data.py", "henon", lambda r: (50, [0.1, 0.2], 1.4, 0.3, 10), (2, 3)),
    Program(
        "SALib/SALib",
        "src/SALib/test_functions/Sobol_G.py",
        "evaluate",
        lambda r: (r.uniform(0.1, 0.9, (9, 8)),),
        (0,),
    ),
    Program(
        "SALib/SALib",
        "src/SALib/test_functions/Ishigami.py",
        "evaluate",
        lambda r: (r.uniform(size=(9, 3)), 7.0, 0.1),
        (0, 1, 2),
    ),
    # learning
    Program(
        HOME,
        "homemade/logistic_regression/logistic_regression.py",
        "cost_function",
        lambda r: (r.normal(size=(20, 3)), r.integers(0, 2, (20, 1)), r.normal(size=(3, 1)), 0.1),
        (0, 2, 3),
        of=lambda m: m.LogisticRegression,
    ),
    Program(
        HOME,
        "homemade/neural_network/multilayer_perceptron.py",
        "cost_function",
        lambda r: (
            np.hstack((np.ones((12, 1)), r.normal(size=(12, 3)))),
            r.integers(0, 2, (12, 1)),
            {0: r.normal(size=(5, 4)), 1: r.normal(size=(2, 6))},
            [3, 5, 2],
            0.1,
        ),
        (0, 4),
        of=lambda m: m.MultilayerPerceptron,
    ),
    Program(
        HOME,
        "homemade/anomaly_detection/gaussian_anomaly_detection.py",
        "multivariate_gaussian",
        normal((20, 3)),
        (0,),
        of=lambda m: m.GaussianAnomalyDetection(np.random.default_rng(5).normal(size=(20, 3))),
    ),
    Program(
        PRML,
        "prml/linear/_empirical_bayes_regression.py",
        "log_evidence",
        normal((20, 3), (20,)),
        (0, 1),
        through=evidence,
    ),
    Program(
        "nengo/nengo",
        "nengo/neurons.py",
        "rates",
        lambda r: (r.normal(size=(9, 6)), np.full(6, 2.0), np.full(6, 1.5)),
        (0, 1, 2),
        of=lambda m: m.LIFRate(),
    ),
    Program("nengo/nengo", "nengo/utils/numpy.py", "rmse", normal((9, 4), (9, 4)), (0, 1)),
    # estimation
    Program(
        KALMAN,
        "pykalman/standard.py",
        "_filter_correct",
        lambda r: (
            r.normal(size=(2, 4)),
            spread(r, 2),
            r.normal(size=2),
            r.normal(size=4),
            spread(r, 4),
            np.ma.asarray(r.normal(size=2)),
        ),
        (0, 1, 2, 3, 4),
    ),
    Program(
        KALMAN,
        "pykalman/standard.py",
        "_smooth_update",
        lambda r: (
            r.normal(size=(3, 3)),
            r.normal(size=3),
            spread(r, 3),
            r.normal(size=3),
            spread(r, 3),
            r.normal(size=3),
            spread(r, 3),
        ),
        (0, 1, 2, 3, 4, 5, 6),
    ),
    # astronomy, solar power
    Program(SKY, "skyfield/functions.py", "to_spherical", normal((3, 7)), (0,)),
    Program(SKY, "skyfield/functions.py", "angle_between", normal((3, 7), (3, 7)), (0, 1)),
    Program(SKY, "skyfield/keplerlib.py", "stumpff", given([-5.3, -0.4, 0.3, 0.9, 7.7]), (0,)),
    Program(
        SKY,
        "skyfield/keplerlib.py",
        "propagate",
        lambda r: (
            np.array([1.0, 0.1, 0.0]),
            np.array([0.0, 0.9, 0.2]),
            np.array(0.0),
            np.array([0.5, 1.0]),
            np.array([1.0]),
        ),
        (0, 1),
    ),
    Program(SKY, "skyfield/nutationlib.py", "iau2000b", given(2455000.5), (0,)),
    Program(SKY, "skyfield/precessionlib.py", "compute_precession", given(2455000.5), (0,)),
    Program(SOLAR, "pvlib/spa.py", "heliocentric_longitude", given([0.009, 0.0101]), (0,)),
    Program(
        SOLAR,
        "pvlib/spa.py",
        "solar_position_numpy",
        given([1.06e9, 1.07e9], 39.7, -105.2, 1830.0, 820.0, 11.0, 67.0, 0.5667, 1),
        (1, 2, 3, 4, 5),
        (0,),
    ),
    # meshes
    Program(
        MESH, "trimesh/transformations.py", "euler_from_matrix", lambda r: (rotation(r),), (0,)
    ),
    Program(
        MESH,
        "trimesh/transformations.py",
        "decompose_matrix",
        lambda r: (np.eye(4) + 0.2 * r.normal(size=(4, 4)),),
        (0,),
    ),
    Program(MESH, "trimesh/triangles.py", "angles", normal((7, 3, 3)), (0,)),
    Program(MESH, "trimesh/triangles.py", "closest_point", normal((7, 3, 3), (7, 3)), (0, 1)),
    Program(
        MESH, "trimesh/transformations.py", "superimposition_matrix", normal((3, 9), (3, 9)), (0, 1)
    ),
    # imaging, communication, biology
    Program(
        ABEL, "abel/hansenlaw.py", "hansenlaw_transform", lambda r: (r.uniform(size=(5, 12)),), (0,)
    ),
    Program(ABEL, "abel/tools/polar.py", "cart2polar", normal((6,), (6,)), (0, 1)),
    Program(
        "veeresht/CommPy", "commpy/filters.py", "rrcosfilter", given(32, 0.35, 1.0, 8.0), (1, 2)
    ),
    Program(
        "veeresht/CommPy",
        "commpy/impairments.py",
        "add_frequency_offset",
        lambda r: (r.normal(size=30), 100.0, 3.0),
        (0, 2),
    ),
    Program(
        "fccoelho/epimodels",
        "epimodels/continuous/models.py",
        "_model",
        lambda r: (0.0, np.array([900.0, 90.0, 10.0]), {"beta": 0.3, "gamma": 0.1, "N": 1000.0}),
        (1,),
        of=lambda m: m.SIR(),
    ),
    Program(
        "wannesm/dtaidistance", "src/dtaidistance/dtw.py", "distance", normal((12,), (15,)), (0, 1)
    ),
    Program(
        "biopython/biopython",
        "Bio/SVDSuperimposer/__init__.py",
        "get_rms",
        normal((8, 3), (8, 3)),
        (0, 1),
        through=superimposed,
    ),
    # geophysics, geodesy
    Program(
        MAP,
        "src/pymap3d/vincenty.py",
        "vdist",
        given(
            [10.0, 38.0, -41.0], [-20.0, -77.0, 174.0], [12.0, 36.0, -36.0], [-21.0, -78.0, 175.0]
        ),
        (0, 1, 2, 3),
    ),
    Program(
        MAP,
        "src/pymap3d/ecef.py",
        "geodetic2ecef",
        given([42.0, -10.0], [-82.0, 5.0], [200.0, 9.0]),
        (0, 1, 2),
    ),
    Program(
        MAP,
        "src/pymap3d/ecef.py",
        "ecef2geodetic",
        given([660675.0, 6256000.0], [-4700948.0, 547000.0], [4245737.0, -1100000.0]),
        (0, 1, 2),
    ),
    Program(
        MAP,
        "src/pymap3d/los.py",
        "lookAtSpheroid",
        given([42.0, 40.0], -82.0, 200.0, [30.0, 60.0], [10.0, 20.0]),
        (0, 1, 2, 3, 4),
    ),
    Program("simpeg/geoana", "geoana/spatial.py", "cartesian_to_spherical", normal((9, 3)), (0,)),
    Program(
        "simpeg/geoana",
        "geoana/spatial.py",
        "rotate_points_from_normals",
        lambda r: (r.normal(size=(9, 3)), unit(r, 3), unit(r, 3)),
        (0, 1, 2),
    ),
    # finance
    Program(
        FYPY,
        "fypy/pricing/analytical/black_scholes.py",
        "black76_price",
        given(100.0, [80.0, 95.0, 120.0], True, [0.2, 0.25, 0.3], 0.99, 0.7),
        (0, 1, 3, 4, 5),
    ),
    Program(
        FYPY,
        "fypy/pricing/analytical/black_scholes.py",
        "black76_price_strikes",
        lambda r: (
            100.0,
            np.array([80.0, 95.0, 120.0]),
            np.array([True, False, True]),
            np.array([0.2, 0.25, 0.3]),
            0.99,
            0.7,
        ),
        (0, 1, 3, 4, 5),
    ),
    # robotics
    Program(SPATIAL, "spatialmath/base/transforms3d.py", "rpy2r", given(0.1, 0.2, 0.3), (0, 1, 2)),
    Program(
        SPATIAL,
        "spatialmath/base/transforms3d.py",
        "trlog",
        lambda r: (rotation(r),),
        (0,),
        keywords={"check": False},
    ),
    Program(SPATIAL, "spatialmath/base/transforms3d.py", "tr2rpy", lambda r: (rotation(r),), (0,)),
    Program(SPATIAL, "spatialmath/base/transforms3d.py", "trexp", normal((6,)), (0,)),
    Program(
        SPATIAL,
        "spatialmath/base/quaternions.py",
        "qslerp",
        lambda r: (unit(r, 4), unit(r, 4), 0.3),
        (0, 1, 2),
    ),
    # astronomy
    Program(
        STARS,
        "PyAstronomy/pyasl/asl/keplerOrbit.py",
        "getE",
        given(2.3, 0.4),
        (0, 1),
        of=lambda m: m.MarkleyKESolver(),
    ),
    Program(
        STARS,
        "PyAstronomy/pyasl/asl/keplerOrbit.py",
        "xyzPos",
        given([0.1, 0.5, 1.7], 1.2, 3.4, 0.3),
        (0, 1, 2, 3),
        through=orbit,
    ),
    Program(
        STARS,
        "PyAstronomy/pyasl/asl/planck.py",
        "planck",
        given(5500.0, [4e-7, 5e-7, 6e-7]),
        (0, 1),
    ),
    # learning
    Program(
        ML,
        "numpy_ml/utils/kernels.py",
        "_kernel",
        normal((6, 3), (5, 3)),
        (0, 1),
        of=lambda m: m.RBFKernel(),
    ),
    # statistics
    Program("dfm/emcee", "src/emcee/autocorr.py", "function_1d", normal((50,)), (0,)),
    Program(
        "dfm/emcee",
        "src/emcee/autocorr.py",
        "integrated_time",
        lambda r: (np.cumsum(r.normal(size=(60, 3)), axis=0),),
        (0,),
        keywords={"quiet": True},
    ),
    # images
    Program(
        COLOUR,
        "colour/models/cie_lab.py",
        "XYZ_to_Lab",
        lambda r: (r.uniform(0.1, 0.9, (5, 5, 3)),),
        (0,),
    ),
    Program(
        COLOUR,
        "colour/difference/delta_e.py",
        "delta_E_CIE2000",
        lambda r: (r.uniform(20, 80, (6, 3)), r.uniform(20, 80, (6, 3))),
        (0, 1),
    ),
    Program(
        COLOUR,
        "colour/models/rgb/transfer_functions/srgb.py",
        "eotf_sRGB",
        lambda r: (r.uniform(0.1, 0.9, (5, 5, 3)),),
        (0,),
    ),
    # games
    Program(
        "rougier/from-python-to-numpy",
        "code/smoke_solver.py",
        "dens_step",
        normal((10, 10), (10, 10), (10, 10), (10, 10)),
        (0, 1, 2, 3),
        through=smoke,
    ),
    Program(
        GYM, "gymnasium/envs/classic_control/acrobot.py", "rk4", normal((5,)), (0,), through=swing
    ),
    # neuroscience
    Program(
        BRAIN,
        "neurodsp/aperiodic/dfa.py",
        "compute_fluctuations",
        lambda r: (sound(r, 400), 100.0),
        (0,),
        keywords={"n_scales": 4, "min_scale": 0.1, "max_scale": 1.0},
    ),
    Program(
        BRAIN,
        "neurodsp/rhythm/lc.py",
        "lagged_coherence_1freq",
        lambda r: (sound(r, 400), 100.0, 5.0, 3),
        (0,),
    ),
    Program(
        BRAIN,
        "neurodsp/sim/cycles.py",
        "sim_skewed_gaussian_cycle",
        given(1.0, 50, 0.4, 0.15, 1.2),
        (2, 3, 4),
    ),
    # hydrology, chemical engineering
    Program(
        "woodcrafty/PyETo",
        "pyeto/fao.py",
        "fao56_penman_monteith",
        given(13.0, 290.0, 2.0, 2.0, 1.4, 0.12, 0.066),
        (0, 1, 2, 3, 4, 5, 6),
    ),
    Program("woodcrafty/PyETo", "pyeto/fao.py", "et_rad", given(0.6, 0.3, 1.7, 1.01), (0, 1, 2, 3)),
    Program("CalebBell/fluids", "fluids/friction.py", "Colebrook", given(1e5, 1e-4), (0, 1)),
    Program("CalebBell/fluids", "fluids/friction.py", "friction_factor", given(1e5, 1e-4), (0, 1)),
]
